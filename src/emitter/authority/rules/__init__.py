"""What a workflow's records come to, and what they allow: values in, values out."""
