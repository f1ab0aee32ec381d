import { json, type Route } from '../../../core/http/index.ts'
import type { Operation } from '../operation.ts'
import type { OpenApiDocument } from './document.ts'

const DOCUMENT = '/openapi.json'

/** The public route of the OpenAPI document. Its code is loaded with the first request. */
export function documentRoute(operations: readonly Operation[]): Route {
  let known: Promise<OpenApiDocument> | undefined
  return [
    'GET',
    DOCUMENT,
    async ({ url: { pathname } }) => {
      const document = await (known ??= import('./document.ts').then(({ documentOf }) =>
        documentOf(operations),
      ))
      // Where the API is mounted.
      const url = pathname.slice(0, pathname.lastIndexOf(DOCUMENT)) || '/'
      return json({ ...document, servers: [{ url }] })
    },
    'public',
  ]
}
