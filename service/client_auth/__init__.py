"""How clients and API resources prove who they are, one file per method."""
