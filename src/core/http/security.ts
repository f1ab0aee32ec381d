/** A way for clients to authenticate, in the shape of OpenAPI. Source: OpenAPI 3.1.1 §4.8.27. */
export type SecurityScheme = { readonly description?: string | undefined } & (
  | {
      readonly type: 'http'
      /** Such as `bearer` or `basic`. */
      readonly scheme: string
      /** Such as `JWT`. */
      readonly bearerFormat?: string | undefined
    }
  | {
      readonly type: 'apiKey'
      readonly in: 'header' | 'query' | 'cookie'
      /** The name of the header, query parameter or cookie. */
      readonly name: string
    }
  | {
      readonly type: 'oauth2'
      readonly flows: OAuthFlows
      /** The URL of the authorization server's metadata (RFC 8414). */
      readonly oauth2MetadataUrl?: string | undefined
    }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string }
  | { readonly type: 'mutualTLS' }
)

/** The schemes by name. A client needs one of them. */
export type SecuritySchemes = Readonly<Record<string, SecurityScheme>>

/** Set exactly one flow, because A2A 1.0 allows one per scheme. Use a separate scheme for each flow. */
export interface OAuthFlows {
  readonly authorizationCode?:
    | (OAuthFlow & {
        readonly authorizationUrl: string
        readonly tokenUrl: string
        readonly pkceRequired?: boolean | undefined
      })
    | undefined
  readonly clientCredentials?: (OAuthFlow & { readonly tokenUrl: string }) | undefined
  /** RFC 8628. A2A 0.3 does not support it. */
  readonly deviceCode?:
    | (OAuthFlow & { readonly deviceAuthorizationUrl: string; readonly tokenUrl: string })
    | undefined
  readonly implicit?: (OAuthFlow & { readonly authorizationUrl: string }) | undefined
  readonly password?: (OAuthFlow & { readonly tokenUrl: string }) | undefined
}

/** The fields that all OAuth flows have in common. */
export interface OAuthFlow {
  readonly refreshUrl?: string | undefined
  /** The description of each scope by its name. */
  readonly scopes: Readonly<Record<string, string>>
}

let warned = false

/**
 * Warns once that a caller was not asked for. Where nobody says it at the start, the first request does, because
 * the adapter that a server is mounted with may identify callers.
 */
export function warnOpen(): void {
  if (warned) return
  saidOpen()
  console.warn(
    'agentwire: no `authenticate` option, and no `principal` of an adapter: anyone can read and change every thread.',
  )
}

/** What a terminal shows of a server has said so. */
export function saidOpen(): void {
  warned = true
}
