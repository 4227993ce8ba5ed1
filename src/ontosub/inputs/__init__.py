"""What users keep in files: where it is, how it is read, and what is wrong with it."""
