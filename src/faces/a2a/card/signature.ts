import { FlattenedSign } from 'jose'
import { checkOptions, type OptionTable } from '../../../core/options.ts'
import type { A2ACardSignature, SignCard } from './options.ts'

export type { A2ACardSignature, SignCard }

/** The options of `signCards`. */
export interface SignCardsOptions {
  /** The private key: a `CryptoKey` or a JSON Web Key. */
  readonly key: CryptoKey | { readonly kty: string; readonly [member: string]: unknown }
  /** The algorithm, such as `ES256`. */
  readonly alg: string
  /** The key id with which readers find the public key. */
  readonly kid: string
  /** The URL of its JSON Web Key Set. Default: readers know the key. */
  readonly jku?: string | undefined
}

const SIGN_OPTIONS: OptionTable<SignCardsOptions> = {
  key: ['required', 'object'],
  alg: ['required', 'string'],
  kid: ['required', 'string'],
  jku: 'string',
}

/**
 * The maximum of signatures to cache: for each assistant, A2A version and address, and for each extended
 * card.
 */
const MAX_KEPT = 1_000

/**
 * Signs the cards of a server: the option `card.sign`. A card is signed once, and cached by its content.
 * Throws `AgentwireError` `invalid_argument` for unknown or invalid options. Source: A2A v1.0 §8.4. v0.3
 * §5.5.6 does not define the canonical form, so the same one is used.
 */
export function signCards(options: SignCardsOptions): SignCard {
  checkOptions('signCards', options, SIGN_OPTIONS)
  const { key, alg, kid, jku } = options
  const header = { alg, typ: 'JOSE', kid, ...(jku !== undefined && { jku }) }
  const kept = new Map<string, Promise<A2ACardSignature>>()
  const signText = async (text: string): Promise<A2ACardSignature> => {
    const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(key)
    return { protected: jws.protected!, signature: jws.signature }
  }
  const sign = (text: string): Promise<A2ACardSignature> => {
    const known = kept.get(text)
    if (known) return known
    for (const oldest of kept.keys()) if (kept.size >= MAX_KEPT) kept.delete(oldest)
    const signature = signText(text)
    kept.set(text, signature)
    signature.catch(() => kept.delete(text)) // The caller gets the error.
    return signature
  }
  return ({ signatures: _, ...card }) => {
    // The official SDKs verify a form without empty values; the specification keeps an empty message, such as
    // that of mutual TLS.
    const texts = new Set([canonical(card), canonical(withoutEmpty(card))])
    return Promise.all([...texts].map(sign))
  }
}

/**
 * The canonical text of plain JSON. Source: RFC 8785. `JSON.stringify` already writes numbers and strings
 * this way.
 */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  // In order of UTF-16 code units (§3.2.3), which is how strings compare.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`
}

/** Undefined if nothing is left. */
function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null) return undefined
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined)
    return items.length > 0 ? items : undefined
  }
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined)
  return members.length > 0 ? Object.fromEntries(members) : undefined
}
