import { upgrading, type WebHandler } from '../../core/http/index.ts'
import { lazy } from '../../core/lazy.ts'
import { createFace, type FaceSetup, standalone } from '../kit/create-face.ts'
import type { EngineChoice, FaceOptions } from '../kit/options.ts'
import { type FaceEndpoint, type FaceRoute, onDemand } from '../kit/routes.ts'
import type { McpContext } from './context.ts'
import { encodeMcpError, missingPackage } from './http-errors.ts'
import { checkMcpOptions, type McpOptions } from './options.ts'
import { challenging, getMetadata, METADATA } from './protected-resource.ts'

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
    routes: [MCP, ...(protectedResource ? METADATA.map(metadataRoute) : [])],
    describe: async () => (await import('./describe.ts')).DESCRIPTIONS,
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

const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts').catch(missingPackage))

/** Each method has its own permission. */
const MCP: FaceRoute<McpContext> = [
  'POST',
  '/mcp',
  null,
  /* @__PURE__ */ onDemand(async () => (await endpoints()).postMcp),
]

const metadataRoute = (pattern: string): FaceRoute<McpContext> => [
  'GET',
  pattern,
  'public',
  getMetadata satisfies FaceEndpoint<McpContext>,
]
