import { expect, onTestFinished } from 'vitest'
import { serve } from '../../../adapters/node.ts'
import { createApi } from '../../../src/control-plane/api/create-api.ts'
import { documentOf } from '../../../src/control-plane/api/document.ts'
import { type TokenVaultOptions, tokenVault } from '../../../src/control-plane/auth/oauth.ts'
import type { ControlPlaneContext } from '../../../src/control-plane/context.ts'
import { openVault } from '../../../src/control-plane/handler.ts'
import { authOperations } from '../../../src/control-plane/operations/all.ts'
import { createSecretBox } from '../../../src/control-plane/secrets/secret-box.ts'
import type { Store } from '../../../src/storage/index.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { validator } from '../support/validate.ts'

export const KEY = btoa('0123456789abcdef0123456789abcdef')

export interface Plane {
  readonly origin: string
  readonly store: Store
  /** The errors that it reported. */
  readonly errors: unknown[]
  /** Calls an operation as the user: `tenant/id`, or nobody. */
  call(user: string | null, method: string, path: string, body?: unknown): Promise<Answer>
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes.
export type Answer = { readonly status: number; readonly body: any; readonly headers: Headers }

export interface PlaneOptions extends TokenVaultOptions {
  readonly store?: Store
  readonly now?: () => number
}

/** Compiled once: compiling the schemas takes longer than most tests. */
const validate = validator(documentOf(authOperations), '/api-host')

/** An instance of the auth service behind a real socket. */
export async function plane({
  store = memoryStore(),
  now = Date.now,
  ...options
}: PlaneOptions = {}): Promise<Plane> {
  await store.setup()
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const secrets = createSecretBox({ key: KEY })
  const auth = openVault(tokenVault({ allowLoopback: true, ...options }), { store, secrets, onError, now })
  const context = { store, secrets, auth, onError, now } as unknown as ControlPlaneContext
  const api = createApi({
    operations: { below: ['/v2'], load: async () => authOperations },
    context,
    basePath: '/api-host',
    onClose: () => auth.close(),
    authenticate(request) {
      const [tenant, id] = request.headers.get('x-api-key')?.split('/') ?? []
      return id ? { id, tenant: tenant! } : null
    },
  })
  const served = await serve(api, { port: 0, silent: true, closeTimeout: 100 })
  const origin = `http://127.0.0.1:${served.port}/api-host`
  let closing: Promise<void> | undefined
  const close = () => (closing ??= served.close())
  onTestFinished(close)
  return {
    origin,
    store,
    errors,
    close,
    async call(user, method, path, body) {
      const response = await fetch(path.startsWith('http') ? path : `${origin}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(user !== null && { 'x-api-key': user }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (!path.startsWith('http')) await validate(method, response.url, response)
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
  }
}

export const ANN = 'acme/ann'
export const BOB = 'acme/bob'
export const EVE = 'other/eve'

/** Registers the fake as a provider. */
export async function addProvider(
  at: Plane,
  origin: string,
  changes: object = {},
  user = ANN,
): Promise<void> {
  const { status, body } = await at.call(user, 'POST', '/v2/auth/providers', {
    provider_id: 'fake',
    name: 'Fake',
    client_id: 'client',
    client_secret: 'client secret',
    auth_url: `${origin}/authorize`,
    token_url: `${origin}/token`,
    uses_pkce: true,
    ...changes,
  })
  expect(body).toMatchObject({ provider_id: 'fake' })
  expect(status).toBe(200)
}

export const authenticate = (at: Plane, user: string, changes: object = {}): Promise<Answer> =>
  at.call(user, 'POST', '/v2/auth/authenticate', { provider: 'fake', scopes: ['read'], ...changes })
