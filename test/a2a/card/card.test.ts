import { AgentCard } from '@a2a-js/sdk'
import { DefaultAgentCardResolver as Resolver1 } from '@a2a-js/sdk/client'
import { isLegacyAgentCard, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client'
import type { AgentCard as AgentCard03 } from 'a2a-sdk-03'
import { DefaultAgentCardResolver as Resolver03 } from 'a2a-sdk-03/client'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SecuritySchemes } from '../../../src/core/http/index.ts'
import { HISTORY_SCOPE } from '../../../src/faces/a2a/card/card.ts'
import { extendedCard } from '../../../src/faces/a2a/card/get-card.ts'
import { type A2ACardOptions, cardSettings } from '../../../src/faces/a2a/card/options.ts'
import type { A2ACall } from '../../../src/faces/a2a/operations/operations.ts'
import { defineAgent } from '../../../src/index.ts'
import { type CardServerOptions, cardServer, echo, readCard, WELL_KNOWN } from './cards.ts'

const PLAIN = {
  name: 'echo',
  description: 'The assistant echo.',
  version: '1.0.0',
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [{ id: 'echo-main', name: 'echo', description: 'The assistant echo.', tags: ['assistant'] }],
}
const URL_OF_ECHO = 'http://agents.test/a2a/echo'
const INTERFACES = [
  { url: URL_OF_ECHO, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { url: URL_OF_ECHO, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
]
const IN_03 = {
  protocolVersion: '0.3.0',
  url: URL_OF_ECHO,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [{ url: URL_OF_ECHO, transport: 'JSONRPC' }],
  supportsAuthenticatedExtendedCard: false,
}

const FLOW = { scopes: { read: 'Reads.' }, refreshUrl: 'https://id.test/refresh' }
const CODE = { ...FLOW, authorizationUrl: 'https://id.test/authorize', tokenUrl: 'https://id.test/token' }
const DEVICE = {
  ...FLOW,
  deviceAuthorizationUrl: 'https://id.test/device',
  tokenUrl: 'https://id.test/token',
}
const SCHEMES: SecuritySchemes = {
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A token of ours.' },
  key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  code: { type: 'oauth2', flows: { authorizationCode: { ...CODE, pkceRequired: true } } },
  device: { type: 'oauth2', flows: { deviceCode: DEVICE }, oauth2MetadataUrl: 'https://id.test/metadata' },
  identity: { type: 'openIdConnect', openIdConnectUrl: 'https://id.test/.well-known/openid-configuration' },
  certificate: { type: 'mutualTLS' },
}
const FULL: CardServerOptions = {
  agents: {
    echo: defineAgent({
      name: 'Echo',
      description: 'Says what you said.',
      inputModes: ['text/plain'],
      outputModes: ['text/plain', 'image/png'],
      skills: [
        {
          id: 'say',
          name: 'Say',
          description: 'Says it.',
          tags: ['speech'],
          examples: ['Say hello.'],
          inputModes: ['text/plain'],
          outputModes: ['text/plain'],
        },
        { id: 'draw', name: 'Draw', description: 'Draws it.', tags: ['image'] },
      ],
      run: async () => {},
    }),
  },
  pushNotifications: true,
  card: {
    version: '2.1.0',
    provider: { organization: 'Example', url: 'https://example.test' },
    documentationUrl: 'https://example.test/docs',
    iconUrl: 'https://example.test/icon.png',
    extensions: [
      {
        uri: 'https://example.test/ext/v1',
        description: 'Ours.',
        required: true,
        params: { deep: [1, null] },
      },
    ],
    securitySchemes: SCHEMES,
    securityRequirements: [{ code: ['read'], certificate: [] }, { key: [] }],
    extended: (card) => card,
  },
}

describe('the card of an agent that tells nothing', () => {
  test('has all that v1.0 requires, and nothing of v0.3', async () => {
    expect(await readCard(cardServer(), { version: '1.0' })).toEqual({
      ...PLAIN,
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extendedAgentCard: false,
        extensions: [HISTORY_SCOPE.extension],
      },
      supportedInterfaces: INTERFACES,
    })
  })

  test('has all that v0.3 requires, and nothing of v1.0', async () => {
    const card: AgentCard03 = await readCard(cardServer(), { version: '0.3' })
    expect(card).toEqual({
      ...PLAIN,
      ...IN_03,
      capabilities: { streaming: true, pushNotifications: false, extensions: [HISTORY_SCOPE.extension] },
    })
  })

  test('has the fields of both for a client that names no version', async () => {
    expect(await readCard(cardServer())).toEqual({
      ...PLAIN,
      ...IN_03,
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extendedAgentCard: false,
        extensions: [HISTORY_SCOPE.extension],
      },
      supportedInterfaces: INTERFACES,
    })
    const pure = cardServer({ card: { headerless: '1.0' } })
    expect(await readCard(pure)).toEqual(await readCard(pure, { version: '1.0' }))
  })
})

describe('the card of an agent that tells all', () => {
  test('says it in v1.0', async () => {
    const { skills, ...card } = await readCard(cardServer(FULL), { version: '1.0' })
    expect(skills).toEqual(FULL.agents!.echo!.skills)
    expect(card).toMatchObject({
      name: 'Echo',
      description: 'Says what you said.',
      version: '2.1.0',
      provider: FULL.card!.provider,
      documentationUrl: 'https://example.test/docs',
      iconUrl: 'https://example.test/icon.png',
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain', 'image/png'],
      capabilities: {
        streaming: true,
        pushNotifications: true,
        extendedAgentCard: true,
        extensions: [HISTORY_SCOPE.extension, ...FULL.card!.extensions!],
      },
      securityRequirements: [
        { schemes: { code: { list: ['read'] }, certificate: {} } },
        { schemes: { key: {} } },
      ],
    })
    expect(card.securitySchemes).toEqual({
      token: {
        httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT', description: 'A token of ours.' },
      },
      key: { apiKeySecurityScheme: { location: 'header', name: 'x-api-key' } },
      cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
      code: { oauth2SecurityScheme: { flows: { authorizationCode: { ...CODE, pkceRequired: true } } } },
      device: {
        oauth2SecurityScheme: {
          flows: { deviceCode: DEVICE },
          oauth2MetadataUrl: 'https://id.test/metadata',
        },
      },
      identity: {
        openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.test/.well-known/openid-configuration' },
      },
      certificate: { mtlsSecurityScheme: {} },
    })
  })

  test('says it in v0.3, but for flows and fields that v0.3 does not know', async () => {
    const card: AgentCard03 = await readCard(cardServer(FULL), { version: '0.3' })
    expect(card.supportsAuthenticatedExtendedCard).toBe(true)
    expect(card.capabilities).toEqual({
      streaming: true,
      pushNotifications: true,
      extensions: [HISTORY_SCOPE.extension, ...FULL.card!.extensions!],
    })
    expect(card.security).toEqual([{ code: ['read'], certificate: [] }, { key: [] }])
    expect(card.securitySchemes).toEqual({
      ...SCHEMES,
      code: { type: 'oauth2', flows: { authorizationCode: CODE } },
      // A scheme without a flow would make the card unreadable.
      device: { type: 'http', scheme: 'bearer' },
    })
    expect(card).not.toHaveProperty('securityRequirements')
    expect(card).not.toHaveProperty('supportedInterfaces')
  })

  test('reads the same in a hybrid as in the card of each version', async () => {
    const server = cardServer(FULL)
    const [hybrid, v1, v03] = [
      await readCard(server),
      await readCard(server, { version: '1.0' }),
      await readCard(server, { version: '0.3' }),
    ]
    expect(AgentCard.toJSON(AgentCard.fromJSON(hybrid))).toEqual(v1)
    expect(hybrid).toMatchObject(v03)
  })
})

describe.each([
  ['tells nothing', {}],
  ['tells all', FULL],
])('the official clients, with an agent that %s,', (_, options: CardServerOptions) => {
  test('read every field of the v1.0 card', async () => {
    const server = cardServer(options)
    const card = await readCard(server, { version: '1.0' })
    expect(AgentCard.toJSON(AgentCard.fromJSON(card))).toEqual(card)
    const resolver = new Resolver1({ fetchImpl: (input, init) => server.fetch(new Request(input, init)) })
    const read = await resolver.resolve('http://agents.test')
    expect(AgentCard.toJSON(AgentCard.fromJSON(AgentCard.toJSON(read)))).toEqual(card)
  })

  test('read the v0.3 card, and find in it what is in the v1.0 card', async () => {
    const server = cardServer(options)
    const card = await readCard(server, { version: '0.3' })
    expect(isLegacyAgentCard(card)).toBe(true)
    const v1 = await readCard(server, { version: '1.0' })
    const translated = AgentCard.toJSON(parseLegacyAgentCard(card)) as Record<string, unknown>
    for (const key of [
      'name',
      'description',
      'version',
      'provider',
      'skills',
      'defaultInputModes',
      'iconUrl',
    ])
      expect(translated[key]).toEqual(v1[key])
    expect(translated.securityRequirements).toEqual(v1.securityRequirements)
    const resolver = new Resolver03({ fetchImpl: (input, init) => server.fetch(new Request(input, init)) })
    // The old client sends no version.
    expect(await resolver.resolve('http://agents.test', WELL_KNOWN)).toMatchObject(card)
  })
})

describe('security', () => {
  const authenticate = () => null
  const bearer = { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } }

  test('is not asked for by a server without authentication', async () => {
    const card = await readCard(cardServer(), { version: '1.0' })
    expect(card).not.toHaveProperty('securitySchemes')
    expect(card).not.toHaveProperty('securityRequirements')
  })

  test('is a bearer token where the authentication does not tell', async () => {
    expect(await readCard(cardServer({ authenticate }), { version: '1.0' })).toMatchObject({
      securitySchemes: bearer,
      securityRequirements: [{ schemes: { bearer: {} } }],
    })
    expect(await readCard(cardServer({ authenticate }), { version: '0.3' })).toMatchObject({
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      security: [{ bearer: [] }],
    })
  })

  test('is any one of the schemes that the authentication tells, or those of the option', async () => {
    const { key, token } = SCHEMES as { key: SecuritySchemes[string]; token: SecuritySchemes[string] }
    const telling = Object.assign(() => null, { schemes: { key, token } })
    const card = await readCard(cardServer({ authenticate: telling }), { version: '0.3' })
    expect(card).toMatchObject({ securitySchemes: { key, token }, security: [{ key: [] }, { token: [] }] })
    const given = cardServer({ authenticate: telling, card: { securitySchemes: { token } } })
    expect(await readCard(given, { version: '0.3' })).toMatchObject({
      securitySchemes: { token },
      security: [{ token: [] }],
    })
  })

  test.each([
    { url: 'agents.test' },
    { url: 'ftp://agents.test' },
    { url: 'https://user:secret@agents.test' },
    { url: 'https://agents.test/?a=1' },
    { url: 'http://' },
    // A caller that forges the Host header would be given a signed card with it.
    { sign: async () => [] },
    { securitySchemes: { two: { type: 'oauth2', flows: { authorizationCode: CODE, deviceCode: DEVICE } } } },
    { securitySchemes: { none: { type: 'oauth2', flows: {} } } },
  ] as A2ACardOptions[])('settings %j that no card could have are refused at once', (options) => {
    expect(() => cardSettings(options, { pushNotifications: false })).toThrow(
      /^a2a\.card\.(url|securitySchemes)/,
    )
  })
})

describe('the extended card', () => {
  const principal = { id: 'alice' }
  const ask = (options: A2ACardOptions, version: '0.3' | '1.0', named = 'echo') => {
    const { context } = cardServer({ card: options })
    const url = new URL(`http://agents.test/api/a2a/${named}`)
    const params = { assistant_id: named }
    const call = { request: new Request(url), url, route: '/a2a/:assistant_id', params, principal }
    return extendedCard({ context, call, assistantId: 'echo', dialect: { version } } as unknown as A2ACall)
  }

  test.each(['1.0', '0.3'] as const)('is what the hook makes for the caller, in v%s', async (version) => {
    const seen: unknown[] = []
    const card = await ask(
      {
        extended: async (card, caller) => {
          seen.push(caller)
          return { ...card, name: `Echo for ${caller.principal?.id}` }
        },
      },
      version,
      'old',
    )
    expect(seen).toEqual([{ principal, request: expect.any(Request), assistantId: 'echo' }])
    const url = 'http://agents.test/api/a2a/echo'
    expect(card).toMatchObject({
      name: 'Echo for alice',
      ...(version === '0.3' ? { url, supportsAuthenticatedExtendedCard: true } : {}),
    })
    expect(JSON.stringify(card)).toContain(url)
  })

  test('is refused by the rules of each version where there is none', async () => {
    await expect(ask({}, '1.0')).rejects.toMatchObject({ code: 'unsupported_operation' })
    await expect(ask({}, '0.3')).rejects.toMatchObject({ code: 'extended_agent_card_not_configured' })
    for (const version of ['1.0', '0.3'] as const)
      await expect(ask({ extended: () => undefined }, version)).rejects.toMatchObject({
        code: 'extended_agent_card_not_configured',
      })
  })
})

test('any card that the options can make passes through the official codec unchanged', async () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' })
  const texts = fc.array(text, { minLength: 1, maxLength: 3 })
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const names = fc.constantFrom(...Object.keys(SCHEMES))
  const options = fc.record({
    version: optional(text),
    iconUrl: optional(text),
    documentationUrl: optional(text),
    provider: optional(fc.record({ organization: text, url: text })),
    extensions: optional(
      fc.array(fc.record({ uri: text, description: text, params: fc.dictionary(text, fc.jsonValue()) }), {
        minLength: 1,
      }),
    ),
    securitySchemes: fc.constant(SCHEMES),
    securityRequirements: fc.array(fc.dictionary(names, fc.array(text), { minKeys: 1 }), { minLength: 1 }),
  })
  const agent = fc.record({
    name: optional(text),
    description: optional(text),
    inputModes: texts,
    outputModes: texts,
  })
  await fc.assert(
    fc.asyncProperty(options, agent, fc.boolean(), async (card, told, pushNotifications) => {
      const server = cardServer({ card, pushNotifications, agents: { echo: { ...echo, ...told } } })
      const v1 = await readCard(server, { version: '1.0' })
      expect(JSON.parse(JSON.stringify(AgentCard.toJSON(AgentCard.fromJSON(v1))))).toEqual(v1)
      const hybrid = await readCard(server)
      expect(JSON.parse(JSON.stringify(AgentCard.toJSON(AgentCard.fromJSON(hybrid))))).toEqual(v1)
      expect(hybrid).toMatchObject(await readCard(server, { version: '0.3' }))
      await server.context.engine.close()
    }),
    { numRuns: 50 },
  )
})
