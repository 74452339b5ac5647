"""Commands for those who change the library."""
