import { AgentwireError } from '../errors.ts'
import { HttpError, json } from '../http/index.ts'

/** The codes of what is refused before MCP is spoken. */
const CODES: Readonly<Partial<Record<string, number>>> = {
  invalid_json: -32700,
  invalid_encoding: -32700,
  incomplete_body: -32700,
}

/** Refusals of HTTP as JSON-RPC, with their status. */
export function encodeMcpError(error: unknown): Response | undefined {
  if (!(error instanceof HttpError)) return undefined
  const { status, headers, code, message } = error
  const body = { jsonrpc: '2.0', id: null, error: { code: CODES[code] ?? -32000, message } }
  return json(body, { status, headers })
}

/** Makes the import of an optional package an error that says what to do. */
export function missingPackage(cause: unknown): never {
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown }
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  if (!isMissing || !String(message).includes('@modelcontextprotocol/server')) throw cause
  throw new AgentwireError(
    'missing_package',
    'agentwire/mcp needs the package @modelcontextprotocol/server: npm install @modelcontextprotocol/server.',
    { cause },
  )
}
