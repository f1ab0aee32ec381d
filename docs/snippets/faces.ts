import { createAgentServer } from 'agentwire'
import { lines } from '../../examples/face/face.ts'
import { agents } from './kit/agents.ts'

// #region mount
import { createFaceHandler } from 'agentwire/face'

export const server = createAgentServer({ agents, faces: [lines] })

export const alone = createFaceHandler({ engine: server.engine }, lines)
// #endregion
