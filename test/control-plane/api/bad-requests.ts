import type { Served } from '../support/served.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: string
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | true
  readonly anyOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Schema
}

export interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly parameters?: readonly Parameter[]
            readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
          }
        >
      >
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A request, which is sent with these headers in place of those of JSON if it has some. */
export interface BadRequest {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly type?: string
}

/** The requests to try at one operation of a served document. The same document and seed give the same requests. */
export function badRequestsOf(document: Document, method: string, path: string, random: () => number) {
  const { parameters = [], requestBody } = document.paths[path]![method.toLowerCase()]!
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!) : schema
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const body: Schema | undefined = requestBody && resolve(requestBody.content['application/json']!.schema)
  const query = parameters.filter((one) => one.in === 'query')
  const inPath = parameters.filter((one) => one.in === 'path')

  function valid(given: Schema): unknown {
    const schema = resolve(given)
    if (schema.anyOf) return valid(schema.anyOf[0]!)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return schema.enum[0]
    if (schema.format === 'uuid') return ID
    if (schema.format === 'date-time') return '2026-01-02T03:04:05Z'
    if (schema.pattern) return 'https://example.test/x'
    if (schema.type === 'string') return 'text'
    if (schema.type === 'integer' || schema.type === 'number') return Math.max(schema.minimum ?? 1, 1)
    if (schema.type === 'boolean') return true
    if (schema.type === 'array') return [valid(schema.items!)]
    if (!schema.properties) return {}
    return Object.fromEntries((schema.required ?? []).map((name) => [name, valid(schema.properties![name]!)]))
  }

  /** Values that this schema refuses, or converts. */
  function wrong(given: Schema): readonly unknown[] {
    const schema = resolve(given)
    if (schema.anyOf) return wrong(schema.anyOf[0]!)
    const odd = [null, 5, -1.5, true, 'x', '', '\ud800', [], ['x'], {}, { a: 1 }]
    if (schema.format === 'uuid') return [...odd, ID.toUpperCase(), `{${ID}}`, `urn:uuid:${ID}`, `${ID} `]
    if (schema.format === 'date-time') return [...odd, '2026-02-30', '2026-01-02T25:00:00Z', 1e15, '12']
    if (schema.enum || schema.const) return [...odd, valid(schema), String(valid(schema)).toLowerCase()]
    if (schema.type === 'string')
      return [...odd, 'x'.repeat((schema.maxLength ?? 0) + 1), '😀'.repeat(3_000), 'ftp://x y']
    if (schema.type === 'boolean') return [...odd, 'yes', 'OFF', 2, 1, '0']
    if (schema.type === 'integer' || schema.type === 'number')
      return [
        ...odd,
        1e300,
        '5',
        '1_000',
        ' 7.0 ',
        '1e3',
        'nan',
        '9'.repeat(30),
        -1,
        0,
        2_147_483_648,
        0.05,
        1e12,
      ]
    if (schema.type === 'array')
      return [...odd, Array(101).fill(valid(schema.items!)), Array(70).fill(5), [valid(schema.items!), null]]
    return [...odd, [null], { unknown: { deep: ['x'] } }, { __proto__: null, name: 5, value: ['hush'] }]
  }

  /** The paths of all places of a schema, with their schemas, without those below the fourth level. */
  function placesOf(
    given: Schema,
    at: readonly (string | number)[] = [],
  ): readonly (readonly [typeof at, Schema])[] {
    const schema = resolve(given)
    if (schema.anyOf) return placesOf(schema.anyOf[0]!, at)
    const below =
      at.length > 4
        ? []
        : schema.type === 'array'
          ? placesOf(schema.items!, [...at, 0])
          : [
              ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
                placesOf(one, [...at, name]),
              ),
              ...(typeof schema.additionalProperties === 'object'
                ? placesOf(schema.additionalProperties, [...at, 'any'])
                : []),
            ]
    return [[at, schema], ...below]
  }

  /** The value with another one at a path, and valid values on the way to it. */
  function withValue(
    given: Schema,
    value: unknown,
    [step, ...rest]: readonly (string | number)[],
    put: unknown,
  ): unknown {
    if (step === undefined) return put
    const schema = resolve(given)
    if (schema.anyOf)
      return withValue(schema.anyOf[0]!, value ?? valid(schema.anyOf[0]!), [step, ...rest], put)
    if (typeof step === 'number')
      return [withValue(schema.items!, (value as unknown[] | undefined)?.[0], rest, put)]
    const from = (value ?? valid(schema)) as Record<string, unknown>
    const member = schema.properties?.[step] ?? (schema.additionalProperties as Schema)
    return { ...from, [step]: withValue(member, from[step], rest, put) }
  }

  const search = (own: readonly (readonly [string, string])[] = [], without?: string): string => {
    const required = query
      .filter((one) => one.required && one.name !== without && !own.some(([name]) => name === one.name))
      .flatMap((one) => [valid(one.schema)].flat().map((value) => [one.name, String(value)]))
    const text = new URLSearchParams([...required, ...own.map(([name, value]) => [name, value])]).toString()
    return text && `?${text}`
  }
  const target = (values: Readonly<Record<string, string>> = {}) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ID))
  const good = body && valid(body)
  const requests: BadRequest[] = []
  const add = (url: string, sent: unknown = good, type?: string) =>
    requests.push({
      method,
      path: url,
      ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
      ...(type !== undefined && { type }),
    })

  add(target() + search())
  for (const { name } of inPath)
    for (const value of ['x', `${ID}0`, 'a/b', '%']) add(target({ [name]: value }) + search())
  for (const { name, schema, required } of query) {
    if (required) add(target() + search([], name))
    const values = wrong(schema).filter((value) => typeof value !== 'object')
    for (const value of [values[3]!, pick(values), pick(values), pick(values)])
      add(target() + search([[name, String(value)]]))
    add(
      target() +
        search([
          [name, 'x'],
          [name, String(valid(schema))],
        ]),
    )
  }
  add(target() + search(query.map((one) => [one.name, String(pick(wrong(one.schema)))] as const)))
  if (body) {
    for (const sent of ['', 'null', '{', '{"a":}', '[]', '5', '"text"', '{}', '{"unknown":1}', '[{}]'])
      add(target() + search(), sent)
    add(target() + search(), JSON.stringify(good), 'text/plain')
    add(target() + search(), 'a=1', 'application/x-www-form-urlencoded')
    add(target() + search(), '', 'text/plain')
    for (const name of body.required ?? [])
      add(target() + search(), { ...(good as object), [name]: undefined })
    const places = placesOf(body).slice(1)
    const chosen = places.length > 30 ? Array.from({ length: 30 }, () => pick(places)) : places
    for (const [at, schema] of chosen)
      for (let tries = 0; tries < 3; tries++)
        add(target() + search(), withValue(body, good, at, pick(wrong(schema))))
    for (let tries = 0; tries < 5; tries++) {
      const many = Object.entries(body.properties ?? {}).map(([name, one]) => [name, pick(wrong(one))])
      add(target(inPath[0] && { [inPath[0].name]: 'x' }) + search(), Object.fromEntries(many))
    }
  }
  return requests
}

const ID = '0b0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

/** Numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The answer as a line: its status, and its body unless it succeeded. */
export async function answered({ fetch }: Pick<Served, 'fetch'>, { method, path, body, type }: BadRequest) {
  const headers = { ...(body !== undefined && { 'content-type': type ?? 'application/json' }) }
  const response = await fetch(
    new Request(`http://control.test${path}`, { method, body: body ?? null, headers }),
  )
  const text = await response.text()
  return response.status < 400 ? String(response.status) : `${response.status} ${text}`
}
