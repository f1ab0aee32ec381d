import type { Door } from './door.ts'
import { a2a } from './doors/a2a.ts'
import { agUiAgent } from './doors/ag-ui.ts'
import { chats } from './doors/ai-sdk.ts'
import { tools } from './doors/mcp.ts'
import { completions, responses } from './doors/openai.ts'
import { protocol } from './doors/protocol.ts'

/** Every door, with a client of it. */
export const DOORS: readonly Door[] = [protocol, a2a, chats, agUiAgent, tools, responses, completions]
