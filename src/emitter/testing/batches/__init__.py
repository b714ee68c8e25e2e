"""The vendors' batch endpoints: requests that are taken together, and answered after a while."""
