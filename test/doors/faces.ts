import { agUi } from '../../src/ag-ui/index.ts'
import { aiSdk } from '../../src/ai-sdk/index.ts'
import type { ServerOptions } from '../../src/index.ts'
import { mcp } from '../../src/mcp/index.ts'
import { openAi } from '../../src/openai/index.ts'

/** The doors that a server has where it mounts them, without their clients. */
export const faces: NonNullable<ServerOptions['faces']> = [aiSdk(), agUi(), mcp(), openAi()]
