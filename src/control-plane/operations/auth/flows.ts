import * as z from 'zod/mini'
import { type Call, HttpError } from '../../../core/http/index.ts'
import { route, tagged } from '../../api/route.ts'
import type { ProviderAnswer } from '../../auth/oauth-client.ts'
import type { Authenticated } from '../../auth/service.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { isoTime } from '../../present.ts'
import { AUTHENTICATE } from '../../wire/auth.ts'
import * as t from '../../wire/common.ts'
import { AUTH_TAG, authOf, authRoute, baseUrlOf, callerOf, NO_STORE } from './service.ts'

/** What a provider sends back with the browser. */
const CALLBACK = {
  code: z.optional(t.PASSWORD),
  state: z.optional(t.STRING),
  iss: z.optional(t.STRING),
  error: z.optional(t.STRING),
  error_description: z.optional(t.STRING),
} as const

/** The longest time that a client may wait, in seconds. */
const MAX_WAIT = 600

const PAGE = { mediaType: 'text/html' } as const
const PAGES = { 200: PAGE, 302: null, 400: PAGE, 403: PAGE, 502: PAGE } as const

export const flowOperations = tagged(AUTH_TAG, [
  authRoute('POST', '/v2/auth/authenticate', {
    summary: 'Authenticate',
    description: "Gives a user's token, refreshed where it has to be, or the URL where the user signs in.",
    body: AUTHENTICATE,
    answers: {
      200: t.titled('AuthenticateResponse', {
        status: z.enum(['completed', 'pending', 'connection_required', 'token_expired']),
        url: t.OPT_STRING,
        auth_id: t.OPT_STRING,
        token: t.OPT_STRING,
        user_id: t.OPT_STRING,
        metadata: z.nullish(t.JSON_OBJECT),
      }),
    },
    errors: [400, 403, 404, 502],
    run: async (auth, { call, body }) => {
      const answer = await auth.authenticate(t.given(body), baseUrlOf(auth, call))
      return { body: presentAuthenticated(answer), headers: NO_STORE }
    },
  }),
  authRoute('GET', '/v2/auth/wait/:auth_id', {
    summary: 'Wait For Completion',
    description: `Answers when the sign-in is over, after \`timeout\` seconds at the latest (at most ${MAX_WAIT}). 0 asks without waiting.`,
    query: z.object({ timeout: z._default(t.INTEGER, 30) }),
    answers: {
      200: t.titled('WaitForCompletionResponse', {
        status: z.enum(['completed', 'pending', 'timeout', 'not_found']),
        token: t.OPT_STRING,
        error: z.nullish(t.described(t.STRING, 'Why the sign-in failed.')),
      }),
    },
    run: async (auth, { call, params, query }) => {
      const ms = Math.min(Math.max(query.timeout, 0), MAX_WAIT) * 1_000
      const { status, token = null, error = null } = await auth.wait(params.auth_id, ms, call.signal)
      return { body: { status, token, error }, headers: NO_STORE }
    },
  }),
  route('GET', '/v2/auth/callback/:provider_id', {
    summary: 'OAuth Callback',
    description: 'Providers send the browser here. The signed `state` says which sign-in it is.',
    query: z.object(CALLBACK),
    answers: PAGES,
    isPublic: true,
    run: (context, { call, params, query }) => finish(context, call, params.provider_id, query),
  }),
  route('GET', '/v2/auth/setup/:provider_id', {
    summary: 'OAuth Setup',
    description: 'GitHub sends the browser here after an app was installed.',
    query: z.object({
      ...CALLBACK,
      setup_action: z.optional(t.STRING),
      installation_id: z.optional(t.INTEGER),
    }),
    answers: PAGES,
    isPublic: true,
    run: async (context, { call, params, query }) => {
      if (query.code !== undefined || query.error !== undefined)
        return finish(context, call, params.provider_id, query)
      authOf(context)
      const isRequest = query.setup_action === 'request'
      const text = isRequest
        ? 'The installation was requested. An owner of the organization has to approve it.'
        : 'The app is installed. You can close this window and sign in.'
      return htmlPage(200, isRequest ? 'Installation requested' : 'App installed', text)
    },
  }),
  authRoute('POST', '/v2/auth/callback/:provider_id', {
    summary: 'Handle OAuth Callback',
    description: 'For front ends that providers send the browser to. Only who began the sign-in may end it.',
    body: t.titled('OAuthCallbackRequest', {
      code: t.PASSWORD,
      state: t.STRING,
      iss: t.OPT_STRING,
    }),
    answers: {
      200: t.titled('OAuthCallbackResponse', {
        status: z.literal('completed'),
        provider_id: t.STRING,
      }),
    },
    errors: [400, 403, 404, 502],
    run: async (auth, { params: { provider_id }, body, call }) => {
      await auth.complete(callerOf(call.principal), provider_id, t.given(body))
      return { body: { status: 'completed', provider_id } }
    },
  }),
])

const presentAuthenticated = ({ status, flow, token, user }: Authenticated) => ({
  status,
  url: flow?.url ?? null,
  auth_id: flow?.authId ?? null,
  token: token?.value ?? null,
  user_id: user,
  metadata: token
    ? {
        ...token.record.metadata,
        token_id: token.record.id,
        provider_id: token.record.providerId,
        provider_account_label: token.record.accountLabel,
        scopes: token.record.scopes,
        expires_at: token.record.expiresAt === null ? null : isoTime(token.record.expiresAt),
      }
    : null,
})

/**
 * Completes a sign-in and redirects the browser. The browser has no credentials here, so the caller is often
 * unknown.
 */
async function finish(
  context: ControlPlaneContext,
  { principal }: Call,
  providerId: string,
  answer: ProviderAnswer,
): Promise<Response> {
  const auth = authOf(context)
  const { code, state, iss, error } = answer
  const goOn = (status: string, reason?: string) => {
    const url = new URL(auth.returnUrl!)
    const parameters = { provider_id: providerId, status, ...(reason && { error: reason }) }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return new Response(null, { status: 302, headers: { location: url.href, ...NO_STORE } })
  }
  try {
    await auth.complete(principal ? callerOf(principal) : undefined, providerId, { code, state, iss, error })
    if (auth.returnUrl !== undefined) return goOn('completed')
    return htmlPage(200, 'Signed in', 'You are signed in. You can close this window.')
  } catch (failure) {
    if (!(failure instanceof HttpError) || failure.status === 503) throw failure
    const isCode = error !== undefined && /^[\w.:-]{1,64}$/.test(error)
    if (auth.returnUrl !== undefined) return goOn('failed', isCode ? error : 'sign_in_failed')
    return htmlPage(failure.status, 'Not signed in', failure.message)
  }
}

/** A page for a user whom a provider has redirected back. It loads and runs nothing from other origins. */
function htmlPage(status: number, title: string, text: string): Response {
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main></body>
</html>
`
  return new Response(page, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'x-content-type-options': 'nosniff',
      // The page's URL contains the code.
      'referrer-policy': 'no-referrer',
    },
  })
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
