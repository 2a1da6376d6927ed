"""The pages a person may have to pass before the answer, one file per step."""
