"""What people see: templates, languages, cookies, forms and the flow from page to page."""
