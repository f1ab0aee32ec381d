import type { SecurityScheme } from '../../../core/http/index.ts'
import type { Fields } from '../../../messages/record.ts'
import type { A2ACard, SignCard } from './options.ts'

/** The forms in which a card is sent. */
export type CardShape = keyof typeof WRITERS

/** A card in wire form, with its signatures. */
export async function writeCard(
  card: A2ACard,
  shape: CardShape,
  sign: SignCard | undefined,
): Promise<Fields> {
  const written = WRITERS[shape](card)
  if (!sign) return written
  // Readers of v1.0 verify the fields that they know, which in a hybrid card are those of v1.0.
  const forms = shape === 'hybrid' ? [written, writeV1(card)] : [written]
  const signatures = await Promise.all(forms.map((form) => sign(JSON.parse(JSON.stringify(form)))))
  return { ...written, signatures: signatures.flat() }
}

/** Source: A2A v1.0 §4.4.1. */
function writeV1({ url, securitySchemes, securityRequirements, ...card }: A2ACard): Fields {
  return {
    ...card,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    securitySchemes: securitySchemes && mapValues(securitySchemes, writeSchemeV1),
    securityRequirements: securityRequirements?.map((schemes) => ({
      // ProtoJSON omits empty lists.
      schemes: mapValues(schemes, (scopes) => (scopes.length > 0 ? { list: scopes } : {})),
    })),
  }
}

/** Source: A2A v0.3.0 §5.5. */
function writeV03({ securityRequirements, ...card }: A2ACard): Fields {
  const { extendedAgentCard, ...capabilities } = card.capabilities
  return {
    ...card,
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url: card.url, transport: 'JSONRPC' }],
    capabilities,
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    securitySchemes: card.securitySchemes && mapValues(card.securitySchemes, writeSchemeV03),
    security: securityRequirements,
  }
}

/** Readers of each version find their fields, and ignore the others. */
function writeHybrid(card: A2ACard): Fields {
  return {
    ...writeV1(card),
    ...writeV03(card),
    capabilities: card.capabilities,
    securitySchemes:
      card.securitySchemes &&
      mapValues(card.securitySchemes, (scheme) => ({ ...writeSchemeV03(scheme), ...writeSchemeV1(scheme) })),
  }
}

const WRITERS = { '1.0': writeV1, '0.3': writeV03, hybrid: writeHybrid }

/** v1.0 has a separate field for each type, and calls the place of an API key its location. */
function writeSchemeV1({ type, ...scheme }: SecurityScheme): Fields {
  const { in: location, ...fields } = scheme as Fields
  return { [`${V1_SCHEMES[type]}SecurityScheme`]: { ...fields, location } }
}

const V1_SCHEMES = {
  http: 'httpAuth',
  apiKey: 'apiKey',
  oauth2: 'oauth2',
  openIdConnect: 'openIdConnect',
  mutualTLS: 'mtls',
}

function writeSchemeV03(scheme: SecurityScheme): Fields {
  if (scheme.type !== 'oauth2') return scheme
  const { deviceCode, authorizationCode } = scheme.flows
  // v0.3 does not have this flow, and its readers reject a scheme without flows. The flow returns a bearer
  // token.
  if (deviceCode) return { type: 'http', scheme: 'bearer', description: scheme.description }
  if (!authorizationCode) return scheme
  const { pkceRequired: _, ...flow } = authorizationCode
  return { ...scheme, flows: { authorizationCode: flow } }
}

const mapValues = <From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> => Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))
