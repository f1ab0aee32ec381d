import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from '../../kit/listen.ts'

/** What an authorization server was asked, and how it can be made to misbehave. */
export interface FakeProvider {
  readonly origin: string
  readonly requests: readonly {
    readonly method: string
    readonly path: string
    readonly form: URLSearchParams
  }[]
  /** Answers the next requests of this path instead of the server. */
  answer(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void
  /** What a user's browser does at the `url` of a flow: the URL that it is sent back to. */
  visit(url: string, changes?: Readonly<Record<string, string>>): Promise<URL>
  /** Tokens that it has revoked. */
  readonly revoked: readonly string[]
  /** How long the tokens that it gives live, in seconds. */
  expiresIn: number | undefined
  /** Adds `iss` to its answers (RFC 9207). */
  iss: string | undefined
  /** Further members of its token answers. */
  extra: Record<string, unknown>
  /** Of the metadata of the server; undefined leaves a member out. */
  metadata: Record<string, unknown>
  /** Of the metadata of the MCP server at `/mcp`. */
  resource: Record<string, unknown>
}

interface Issued {
  readonly redirectUri: string
  readonly challenge: string | null
  readonly scope: string
}

/** An authorization server on loopback, strict as RFC 6749, RFC 7636 and RFC 9700 ask for: codes and refresh tokens serve once. */
export async function fakeProvider({
  secret = 'client secret',
}: {
  secret?: string
} = {}): Promise<FakeProvider> {
  const requests: { method: string; path: string; form: URLSearchParams }[] = []
  const overrides = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>()
  const codes = new Map<string, Issued>()
  const refreshTokens = new Map<string, string>()
  const revoked: string[] = []
  let count = 0

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const url = new URL(request.url!, fake.origin)
    const form = new URLSearchParams(body)
    requests.push({ method: request.method!, path: url.pathname, form })
    const override = overrides.get(url.pathname)
    if (override) return override(request, response)
    const json = (status: number, value: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const refuse = (error: string) => json(400, { error, error_description: 'secret details' })

    if (url.pathname === '/authorize') {
      const query = url.searchParams
      const code = `code-${++count}`
      codes.set(code, {
        redirectUri: query.get('redirect_uri')!,
        challenge: query.get('code_challenge'),
        scope: query.get('scope') ?? '',
      })
      const back = new URL(query.get('redirect_uri')!)
      back.searchParams.set('code', code)
      back.searchParams.set('state', query.get('state')!)
      if (fake.iss !== undefined) back.searchParams.set('iss', fake.iss)
      return void response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/token') {
      const basic = `Basic ${btoa(`client:${encodeURIComponent(secret).replaceAll('%20', '+')}`)}`
      const isClient =
        request.headers.authorization === basic ||
        (form.get('client_id') === 'client' && form.get('client_secret') === secret) ||
        form.get('client_id') === 'public'
      if (!isClient) return refuse('invalid_client')
      let scope: string | undefined
      if (form.get('grant_type') === 'authorization_code') {
        const issued = codes.get(form.get('code')!)
        codes.delete(form.get('code')!)
        const verifier = form.get('code_verifier')
        const challenge = verifier && createHash('sha256').update(verifier).digest('base64url')
        if (!issued || issued.redirectUri !== form.get('redirect_uri') || issued.challenge !== challenge)
          return refuse('invalid_grant')
        scope = issued.scope
      } else {
        scope = refreshTokens.get(form.get('refresh_token')!)
        refreshTokens.delete(form.get('refresh_token')!)
        if (scope === undefined) return refuse('invalid_grant')
      }
      const refreshToken = `refresh-${++count}`
      refreshTokens.set(refreshToken, scope)
      const answer = {
        access_token: `access-${count}`,
        token_type: 'Bearer',
        refresh_token: refreshToken,
        scope,
      }
      return json(200, { ...answer, expires_in: fake.expiresIn, ...fake.extra })
    }
    if (url.pathname === '/revoke') {
      revoked.push(form.get('token')!)
      return void response.writeHead(200).end()
    }
    if (url.pathname === '/register') {
      const { redirect_uris } = JSON.parse(body)
      return json(201, { client_id: 'public', redirect_uris, token_endpoint_auth_method: 'none' })
    }
    if (url.pathname === '/.well-known/oauth-authorization-server') return json(200, fake.metadata)
    if (url.pathname === '/.well-known/oauth-protected-resource/mcp') return json(200, fake.resource)
    response.writeHead(404).end()
  })
  const origin = `http://127.0.0.1:${await listen(server)}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })

  const fake: FakeProvider = {
    origin,
    requests,
    answer: (path, handler) => void overrides.set(path, handler),
    async visit(url, changes = {}) {
      const response = await fetch(url, { redirect: 'manual' })
      const back = new URL(response.headers.get('location')!)
      for (const [name, value] of Object.entries(changes)) back.searchParams.set(name, value)
      return back
    },
    revoked,
    expiresIn: 3_600,
    iss: undefined,
    extra: {},
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      registration_endpoint: `${origin}/register`,
      code_challenge_methods_supported: ['S256'],
    },
    resource: { resource: `${origin}/mcp`, authorization_servers: [origin] },
  }
  return fake
}
