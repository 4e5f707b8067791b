"""What the service promises: nothing lost, quick replay, quick acknowledgement."""
