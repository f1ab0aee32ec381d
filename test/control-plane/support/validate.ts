import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../../src/control-plane/api/document.ts'

/**
 * Checks answers against a served document: the path, the method, the status, the media type and the body have to be in it. `basePath`
 * is where the API is mounted. The response can still be read afterwards.
 */
export function validator(document: OpenApiDocument, basePath = '') {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'document')
  const compiled = new Map<string, ValidateFunction>()
  const patterns = Object.keys(document.paths)
    // A path without parameters takes precedence.
    .sort((left, right) => left.split('{').length - right.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`) }))

  return async (method: string, url: string | URL, response: Response): Promise<void> => {
    const pathname = new URL(url, 'http://host').pathname.slice(basePath.length)
    const place = `${method} ${pathname} ${response.status}`
    const path = patterns.find(({ pattern }) => pattern.test(pathname))?.path
    const operation = path && document.paths[path]![method.toLowerCase()]
    if (!operation) throw new Error(`${place}: there is no such operation in the document.`)
    const { status } = response
    const known = operation.responses[String(status)] ?? (status >= 400 && operation.responses.default)
    if (!known) throw new Error(`${place}: the document has no such status.`)
    const text = await response.clone().text()
    const [type, content] = Object.entries(known.content ?? {})[0] ?? []
    if (type === undefined || content === undefined) {
      if (text !== '') throw new Error(`${place}: the document has no body here.`)
      return
    }
    const given = response.headers.get('content-type')?.split(';')[0]
    if (given !== type) throw new Error(`${place}: ${given} in place of ${type}.`)
    if (type !== 'application/json') return
    const validate = compile(content.schema)
    const body = JSON.parse(text)
    if (!validate(body))
      throw new Error(`${place}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 2_000)}`)
  }

  function compile(schema: object): ValidateFunction {
    const local = JSON.stringify(schema).replaceAll('"#/', '"document#/')
    const known = compiled.get(local) ?? ajv.compile(JSON.parse(local))
    compiled.set(local, known)
    return known
  }
}
