"""What requests and answers look like, one file a resource."""
