import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { validateSaver } from './validate.ts'

await validateSaver('memoryCheckpointer', (): BaseCheckpointSaver => memoryCheckpointer())
