import { upgrading, type WebHandler } from '../../core/http/index.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../kit/create-face.ts'
import { encodeMcpError } from './http-errors.ts'
import { checkMcpOptions, type McpContext, type McpOptions } from './options.ts'
import { challenging, WELL_KNOWN } from './protected-resource.ts'

/**
 * Agents as tools of the Model Context Protocol, under `/mcp`, for `createAgentServer({ agents, faces:
 * [mcp()] })`. Needs the package `@modelcontextprotocol/server`. See docs/mcp.md.
 */
export function mcp(options: McpOptions = {}): (setup: FaceSetup) => WebHandler {
  checkMcpOptions('mcp', options)
  return (setup) => createMcpGroup(setup, options)
}

/** The MCP endpoint alone, over an engine or the options for one. */
export const createMcpHandler = (
  options: FaceOptions & EngineChoice & { readonly mcp?: McpOptions | undefined },
): WebHandler => {
  const own = options?.mcp ?? {}
  checkMcpOptions('createMcpHandler: mcp', own)
  return upgrading(
    standalone('createMcpHandler', options, { mcp: 'object' }, (setup) => createMcpGroup(setup, own)),
  )
}

function createMcpGroup(setup: FaceSetup, options: McpOptions): WebHandler {
  const { basePath, protectedResource } = options
  const face = createFace<McpContext>(setup, {
    basePath,
    routes: [
      { below: ['/mcp'], load: async () => [(await import('./routes.ts')).MCP] },
      ...(protectedResource
        ? [{ below: [WELL_KNOWN], load: async () => (await import('./routes.ts')).METADATA }]
        : []),
    ],
    context: {
      options,
      isGuarded: setup.authenticate !== undefined,
      allowsOrigin: setup.allowsOrigin ?? (() => false),
    },
    encodeError: encodeMcpError,
    protocolHeaders: {
      request: ['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
      response: ['mcp-protocol-version', 'mcp-session-id'],
    },
  })
  return protectedResource ? challenging(face, options) : face
}
