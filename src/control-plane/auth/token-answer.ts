import { fromBase64 } from '../../core/bytes.ts'
import { isRecord } from '../../core/record.ts'
import type { ProviderType } from './records.ts'

/** A token endpoint's response, in the form of RFC 6749. */
export interface TokenAnswer {
  readonly response: Response
  /** The account that the user has signed in with, if the response names one. */
  readonly accountLabel: string | null
  /** Slack issues one for its workspace in addition to the user's. */
  readonly workspaceToken: { readonly value: string; readonly scopes: readonly string[] } | undefined
}

/**
 * Converts responses to the form of RFC 6749 §5. GitHub and Slack send errors with status 200, Slack nests
 * the user's token, and some providers send nulls. The ID token is only read for the account name, and TLS
 * authenticates its issuer (OpenID Connect Core §3.1.3.7).
 */
export async function readTokenAnswer(answer: Response, type: ProviderType | null): Promise<TokenAnswer> {
  const body = answer.status < 500 ? await objectOf(answer.clone()) : undefined
  const untouched = { response: answer, accountLabel: null, workspaceToken: undefined }
  if (!body) return untouched
  if (answer.status === 200 && typeof body.error === 'string' && !body.access_token)
    return { ...untouched, response: jsonResponse(400, { error: body.error }) }
  if (answer.status !== 200) return untouched
  const user = type === 'slack' && isRecord(body.authed_user) ? body.authed_user : {}
  const isNested = typeof user.access_token === 'string'
  const token = isNested ? user : body
  const { access_token, refresh_token, expires_in, scope } = token
  const isBot = type === 'slack' && body.token_type === 'bot' && typeof body.access_token === 'string'
  return {
    response: jsonResponse(200, {
      access_token,
      token_type: type === 'slack' ? 'bearer' : (token.token_type ?? 'bearer'),
      ...(refresh_token ? { refresh_token } : {}),
      ...(expires_in != null && { expires_in }),
      ...(scope != null && { scope: Array.isArray(scope) ? scope.join(' ') : scope }),
    }),
    accountLabel: labelOf(body),
    workspaceToken: isBot ? { value: body.access_token as string, scopes: scopesOf(body.scope) } : undefined,
  }
}

/** Scopes are separated by spaces; some providers use commas. */
export const scopesOf = (scope: unknown): string[] =>
  typeof scope === 'string' ? [...new Set(scope.split(/[\s,]+/).filter(Boolean))] : []

function labelOf(body: Readonly<Record<string, unknown>>): string | null {
  const claims = claimsOf(body.id_token)
  const team = isRecord(body.team) ? body.team.name : undefined
  const label = [claims.email, claims.preferred_username, claims.name, team].find(
    (candidate) => typeof candidate === 'string' && candidate !== '',
  )
  return label === undefined ? null : (label as string).slice(0, 200)
}

function claimsOf(idToken: unknown): Readonly<Record<string, unknown>> {
  const payload = typeof idToken === 'string' ? fromBase64(idToken.split('.')[1] ?? '') : undefined
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    return isRecord(claims) ? claims : {}
  } catch {
    return {} // A token without a name works too.
  }
}

async function objectOf(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  const body: unknown = await response.json().catch(() => undefined)
  return isRecord(body) ? body : undefined
}

const jsonResponse = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
