"""The engines that constrain decoding: what each holds of a schema, and whether what is compiled for it is right."""
