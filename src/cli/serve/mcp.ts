import { createRequire } from 'node:module'
import { LOOPBACK } from '../../core/http/cors.ts'
import { originCheck, type WebHandler } from '../../core/http/index.ts'
import type { FaceSetup } from '../../faces/kit/index.ts'
import { mcp } from '../../faces/mcp/index.ts'
import type { HttpSection } from './sections.ts'

const PACKAGE = '@modelcontextprotocol/server'

/** Whether `/mcp` is served: if its package is installed, unless the config turns it off. */
export type McpState = 'on' | 'off' | 'not installed'

export function mcpState({ disabled }: Pick<HttpSection, 'disabled'>): McpState {
  if (disabled.has('mcp')) return 'off'
  return isMcpInstalled() ? 'on' : 'not installed'
}

export const MCP_INSTALL = `npm install ${PACKAGE}`

/** Whether the package that `mcp()` needs is there. */
export function isMcpInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(PACKAGE)
    return true
  } catch {
    return false
  }
}

/**
 * The MCP face of a project. The CORS settings of its config apply to the whole server, so the face does not
 * see them.
 */
export const mcpFaces = (http: HttpSection): readonly ((setup: FaceSetup) => WebHandler)[] =>
  mcpState(http) === 'on'
    ? [(setup) => mcp()({ ...setup, allowsOrigin: originCheck(http.cors ?? LOOPBACK) })]
    : []
