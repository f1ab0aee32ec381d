import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { createApi } from '../../../src/control-plane/api/create-api.ts'
import { documentOf, type OpenApiDocument } from '../../../src/control-plane/api/document.ts'
import { route } from '../../../src/control-plane/api/route.ts'
import type { ControlPlaneContext } from '../../../src/control-plane/context.ts'
import { authOperations, OPERATIONS } from '../../../src/control-plane/operations/all.ts'
import * as t from '../../../src/control-plane/wire/common.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { validator } from '../support/validate.ts'

const document: OpenApiDocument = documentOf(OPERATIONS)
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

const thing = t.titled('Thing', { id: t.INTEGER })

const getThing = route('GET', '/things/:thing_id', {
  summary: 'Get <Thing>',
  tag: 'Things',
  description: 'With "<script>" & more.',
  query: z.object({ parts: z.nullish(t.list(thing)), of: t.STRING }),
  headers: { 'If-None-Match': 'Answers 304 where nothing has changed.' },
  answers: { 200: thing, 204: null, 206: { mediaType: 'text/plain' } },
  run: async (_, { params }) => ({ body: { id: params.thing_id === 'one' ? 1 : 'wrong' } }),
})

const api = createApi({
  operations: { below: ['/'], load: async () => [getThing] },
  context: { store: memoryStore() } as ControlPlaneContext,
  basePath: '/api',
  authenticate: (request) => (request.headers.has('x-api-key') ? { id: 'me' } : null),
})
const get = (path: string) => api.fetch(new Request(`http://host${path}`, { headers: { 'x-api-key': 'k' } }))
const getPublic = (path: string) => api.fetch(new Request(`http://host${path}`))

test('the document is OpenAPI 3.1.0 of version 0.1.0, and always the same', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '0.1.0' } })
  expect(document.servers).toBeUndefined()
  expect(JSON.stringify(documentOf(OPERATIONS))).toBe(JSON.stringify(document))
})

test('every reference leads to a schema, and every schema is referred to', () => {
  const text = JSON.stringify(document)
  const used = new Set(
    [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!),
  )
  expect([...used].sort()).toEqual(Object.keys(document.components.schemas))
})

test('no member has a name that every object has', () => {
  const schemas = Object.values(documentOf([...OPERATIONS, ...authOperations]).components.schemas)
  for (const name of schemas.flatMap(({ properties }) => Object.keys(properties ?? {})))
    expect(name in {}).toBe(false)
})

test('every schema is one of JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
  addFormats.default(ajv)
  ajv.addVocabulary(['openapi', 'info', 'paths', 'components'])
  ajv.addSchema(document, 'document')
  for (const name of Object.keys(document.components.schemas))
    ajv.compile({ $ref: `document#/components/schemas/${name}` })
})

test('every operation has an id of its own, and names the three ways to authenticate, which are defined', () => {
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('get_deployment_v2_deployments__deployment_id__get')
  expect(ids).toContain('list_deployments_v2_deployments_get')
  const secured = operations.filter(({ security }) => security.length > 0)
  expect(secured.length).toBeGreaterThan(20)
  for (const { security } of secured)
    expect(security.flatMap((one) => Object.keys(one))).toEqual(
      Object.keys(document.components.securitySchemes),
    )
})

test('names of components and tags are such as tools for OpenAPI take, and every operation says who may call it', () => {
  const names = Object.values(document.components).flatMap((components) => Object.keys(components))
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/)
  expect(operations.every(({ security }) => Array.isArray(security))).toBe(true)
})

test('every parameter of a path is described, and what reads something can be refused with 422', () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { parameters = [], requestBody, responses } of Object.values(methods)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(named)
      const isChecked = parameters.some((one) => one.in !== 'header') || requestBody !== undefined
      expect('422' in responses).toBe(isChecked)
    }
  }
})

test('a schema that the API has no words for is refused', () => {
  for (const schema of [z.date(), z.string(), z.array(t.STRING), z.number().check(z.multipleOf(2))]) {
    const body = route('POST', '/other', {
      summary: 'Other',
      body: schema,
      answers: { 204: null },
      run: async () => ({}),
    })
    expect(() => documentOf([body])).toThrow(`The schemas of the API have no ${schema.def.type}.`)
  }
})

test('two different schemas of one title are refused', () => {
  const other = t.titled('Thing', { id: t.STRING })
  const twice = route('GET', '/twice', {
    summary: 'Twice',
    tag: 'T',
    answers: { 200: other, 201: thing },
    run: async () => ({}),
  })
  expect(() => documentOf([twice])).toThrow('Two schemas of the API are called Thing.')
})

test('the document is served where the API is mounted, without a key', async () => {
  const response = await getPublic('/api/openapi.json')
  const served: OpenApiDocument = await response.json()
  expect(served.servers).toEqual([{ url: '/api' }])
  expect(Object.keys(served.paths)).toEqual(['/things/{thing_id}'])
  expect(served.paths['/things/{thing_id}']!.get).toEqual({
    tags: ['Things'],
    summary: 'Get <Thing>',
    description: 'With "<script>" & more.',
    operationId: 'get_thing__things__thing_id__get',
    security: [{ ApiKey: [] }, { TenantId: [] }, { BearerAuth: [] }],
    parameters: [
      { name: 'thing_id', in: 'path', required: true, schema: { type: 'string' } },
      {
        name: 'parts',
        in: 'query',
        required: false,
        schema: {
          anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/Thing' } }, { type: 'null' }],
        },
      },
      { name: 'of', in: 'query', required: true, schema: { type: 'string' } },
      {
        name: 'If-None-Match',
        in: 'header',
        required: false,
        schema: { type: 'string', description: 'Answers 304 where nothing has changed.' },
        description: 'Answers 304 where nothing has changed.',
      },
    ],
    responses: {
      200: {
        description: 'Successful Response',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
      },
      204: { description: 'Successful Response' },
      206: { description: 'Successful Response', content: { 'text/plain': { schema: { type: 'string' } } } },
      304: { description: 'Not Modified' },
      422: {
        description: 'Validation Error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } },
      },
      default: {
        description: 'Any other error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
      },
    },
  })
})

test('a response is valid if the document has its status and its body', async () => {
  const check = validator(await (await getPublic('/api/openapi.json')).json(), '/api')
  const answers = async (method: string, path: string) => check(method, path, await get(path))
  await answers('GET', '/api/things/one?of=x')
  await answers('GET', '/api/things/one')
  await check('GET', '/api/things/one', await getPublic('/api/things/one'))
  await expect(answers('GET', '/api/things/two?of=x')).rejects.toThrow('data/id must be integer')
  await expect(answers('GET', '/api/elsewhere')).rejects.toThrow('no such operation')
  await expect(check('POST', '/api/things/one', new Response())).rejects.toThrow('no such operation')
  await expect(check('GET', '/api/things/one', Response.json({ id: 1 }, { status: 201 }))).rejects.toThrow(
    'no such status',
  )
  await expect(
    check('GET', '/api/things/one', Response.json({ detail: 1 }, { status: 500 })),
  ).rejects.toThrow('data/detail')
  await expect(check('GET', '/api/things/one', new Response('{"id":1}'))).rejects.toThrow('text/plain')
})
