"""How fast and how safe the service is."""
