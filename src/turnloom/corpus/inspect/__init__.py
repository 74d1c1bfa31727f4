"""What is in a dialogue table: statistics and the page that shows them."""
