import { json, type Route } from '../../../http/index.ts'
import type { Operation } from '../operation.ts'
import { documentOf, type OpenApiDocument } from './document.ts'

const DOCUMENT = '/openapi.json'

/** The document of operations, which is public. */
export function documentRoute(operations: readonly Operation[]): Route {
  let known: OpenApiDocument | undefined
  const document = (): OpenApiDocument => (known ??= documentOf(operations))
  return ['GET', DOCUMENT, ({ url }) => json({ ...document(), ...serversOf(url) }), 'public']
}

/** Where the API is mounted. */
const serversOf = ({ pathname }: URL): Pick<OpenApiDocument, 'servers'> => ({
  servers: [{ url: pathname.slice(0, pathname.lastIndexOf(DOCUMENT)) || '/' }],
})
