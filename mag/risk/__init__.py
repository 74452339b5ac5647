"""Risk before masking, from columns of codes: one subject a file."""
