"""The states of a link and the limits that rule them: what fails how, when to try again, how much at a time."""
