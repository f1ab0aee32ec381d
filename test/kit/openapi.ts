import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Json } from './events.ts'

/** A request and its answer, as far as a document speaks of them. */
export interface Exchange {
  readonly method: string
  readonly pathname: string
  /** Undefined where none was sent, or none that is JSON. */
  readonly body: unknown
  readonly status: number
  readonly type: string | null
  readonly answer: unknown
}

/** Checks exchanges against an OpenAPI document. */
export function checkerOf(document: Json) {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  formats.default(ajv)
  ajv.addSchema({ $id: 'document', ...document })
  const paths = Object.entries<Json>(document.paths).map(([path, item]) => ({
    item,
    path,
    words: path.split('/').length - (path.match(/\{/g)?.length ?? 0) / 100,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  // Words before parameters, as the router has it.
  paths.sort((a, b) => b.words - a.words)
  const compiled = new Map<object, (value: unknown) => string | undefined>()
  const problemOf = (schema: Json, value: unknown): string | undefined => {
    let check = compiled.get(schema)
    if (!check) {
      const validate = ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('#/components', 'document#/components')),
      )
      check = (one) =>
        validate(one) ? undefined : `${validate.errors![0]!.instancePath} ${validate.errors![0]!.message}`
      compiled.set(schema, check)
    }
    return check(value)
  }
  const operationOf = ({ method, pathname }: Pick<Exchange, 'method' | 'pathname'>): Json | undefined =>
    paths.find(({ pattern, item }) => pattern.test(pathname) && item[method.toLowerCase()])?.item[
      method.toLowerCase()
    ]
  return {
    operationOf,
    /** What is wrong with the body of a request; undefined where nothing is. */
    bodyProblem(exchange: Exchange): string | undefined {
      const schema = operationOf(exchange)?.requestBody?.content['application/json'].schema
      return schema && problemOf(schema, exchange.body ?? {})
    },
    answerProblem(exchange: Exchange): string | undefined {
      const operation = operationOf(exchange)
      if (!operation) return 'no operation'
      const { status, type, answer } = exchange
      const response =
        operation.responses[status] ?? (status >= 400 ? operation.responses.default : undefined)
      if (!response) return `status ${status} is not documented`
      if (type === null) return response.content && status < 400 ? 'an answer without a type' : undefined
      if (type.startsWith('text/plain') && status >= 400) return undefined
      const content = response.content?.[type.split(';')[0]!]
      if (!content) return `${type} is not documented`
      return type.startsWith('text/') ? undefined : problemOf(content.schema, answer)
    },
  }
}
