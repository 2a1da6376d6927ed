// Asks the person with the browser for an errand: to visit a URL and tell where it ended.

export async function visit(url, options = {}) {
  const body = new URLSearchParams({ person: "openid-client", url, ...options });
  const response = await fetch(`${process.env.ERRANDS}/visit`, { method: "POST", body });
  if (!response.ok) throw new Error(`the person could not go to ${url}`);
  const arrived = await response.json();
  return { url: new URL(arrived.url), form: new URLSearchParams(arrived.form) };
}
