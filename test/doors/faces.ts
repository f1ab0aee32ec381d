import { agUi } from '../../src/ag-ui/index.ts'
import { aiSdk } from '../../src/ai-sdk/index.ts'
import type { ServerOptions } from '../../src/index.ts'

/** The doors that a server has where it mounts them, without their clients. */
export const faces: NonNullable<ServerOptions['faces']> = [aiSdk(), agUi()]
