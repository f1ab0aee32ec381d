import { AgentwireError } from '../../core/errors.ts'
import { HttpError, json } from '../../core/http/index.ts'

/** JSON-RPC error codes of requests that are rejected before MCP handles them. */
const CODES: Readonly<Partial<Record<string, number>>> = {
  invalid_json: -32700,
  invalid_encoding: -32700,
  incomplete_body: -32700,
}

/** HTTP rejections as JSON-RPC errors, with their status. */
export function encodeMcpError(error: unknown): Response | undefined {
  if (!(error instanceof HttpError)) return undefined
  const { status, headers, code, message } = error
  const body = { jsonrpc: '2.0', id: null, error: { code: CODES[code] ?? -32000, message } }
  return json(body, { status, headers })
}

/** Turns a failed import of the optional package into an error with the next step. */
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
