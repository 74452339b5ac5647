"""Records in an order, and the best groups of consecutive ones."""
