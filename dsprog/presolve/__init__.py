"""What makes a problem smaller before anybody solves it."""
