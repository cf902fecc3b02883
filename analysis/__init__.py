"""Reads gaussweep's results.h5 (io/SCHEMA.md) into tidy frames, draws them and writes the report."""
