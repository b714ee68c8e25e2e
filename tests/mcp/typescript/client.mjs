// Calls the tools of an MCP server with a client of the TypeScript SDK: one request a line in, one answer a line out.
//
//   node client.mjs FOLDER LINE COMMAND [ARGUMENT ...]
//
// FOLDER holds node_modules; LINE is the SDK's line, 1 or 2; the rest starts the server.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, line, command, ...args] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const load = (name) => import(require.resolve(name));
const packages = {
  1: ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"],
  2: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
};
const [{ Client }, { StdioClientTransport }] = await Promise.all(packages[line].map(load));

const client = new Client({ name: "emitter-tests", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
// From here on the client holds structured results to the schemas that the server publishes.
const { tools } = await client.listTools();
console.log(JSON.stringify({ tools }));
for await (const text of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify({ result: await client.callTool(JSON.parse(text)) }));
  } catch (error) {
    console.log(JSON.stringify({ raised: String(error) }));
  }
}
await client.close();
