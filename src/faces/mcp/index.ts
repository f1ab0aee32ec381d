export { createMcpHandler, mcp } from './group.ts'
export type { McpOptions, McpResource, McpTaskOptions } from './options.ts'
