"""What the gateway answers from: the connection manager's servers and Naru's own tools behind one seam."""
