"""The index in a directory: memory-mapped arrays, a manifest, and the subscriptions themselves."""
