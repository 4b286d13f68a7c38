"""The link to one server, as others use it: kept open by its owner task, watched, opened again, remembered."""
