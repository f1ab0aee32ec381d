// #region authenticate
export function authenticate(request: Request) {
  if (!new URL(request.url).pathname.includes('/devtools')) return fromBearerToken(request)
  const given = request.headers.get('authorization')
  if (given === `Basic ${btoa(`dev:${process.env.DEVTOOLS_PASSWORD}`)}`) return { id: 'dev', tenant: 'acme' }
  return new Response('Sign in.', { status: 401, headers: { 'www-authenticate': 'Basic realm="devtools"' } })
}

function fromBearerToken(request: Request) {
  // Verify your token here.
  return request.headers.get('authorization') === 'Bearer ada-token' ? { id: 'ada' } : null
}
// #endregion
