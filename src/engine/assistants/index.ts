export {
  type AssistantFields,
  createAssistant,
  deleteAssistant,
  type NewAssistant,
  patchAssistant,
  setLatestVersion,
} from './changes.ts'
export {
  describeAssistant,
  findAssistant,
  graphNamed,
  isShown,
  isUnnamed,
  requireAssistant,
  resourceNamed,
} from './find.ts'
export {
  type AssistantPage,
  type AssistantQuery,
  countAssistants,
  listVersions,
  searchAssistants,
} from './lists.ts'
export type { AssistantOrder, AssistantRecord, Fields } from './record.ts'
export { mergeSettings, type RunSettings } from './record.ts'
export { idOfGraph, systemAssistantId } from './system.ts'
