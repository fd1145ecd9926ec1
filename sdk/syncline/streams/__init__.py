"""What goes on after a request was answered: each stands on a session and knows no client."""
