export { createMcpHandler, mcp } from './face.ts'
export type { McpOptions, McpResource, McpTaskOptions } from './options.ts'
