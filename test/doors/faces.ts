import { agUi } from '../../src/faces/ag-ui/index.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { mcp } from '../../src/faces/mcp/index.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import type { ServerOptions } from '../../src/index.ts'

/** The doors that a server has where it mounts them, without their clients. */
export const faces: NonNullable<ServerOptions['faces']> = [aiSdk(), agUi(), mcp(), openAi()]
