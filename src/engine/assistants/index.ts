export {
  type AssistantFields,
  createAssistant,
  deleteAssistant,
  type NewAssistant,
  patchAssistant,
  setLatestVersion,
} from './changes.ts'
export { describeAssistant } from './describe.ts'
export { findAssistant, graphNamed, isShown, requireAssistant, resourceNamed } from './find.ts'
export {
  type AssistantPage,
  type AssistantQuery,
  countAssistants,
  listVersions,
  searchAssistants,
} from './lists.ts'
export { mergeSettings, type RunSettings } from './merge.ts'
export type { AssistantOrder, AssistantRecord, Fields } from './record.ts'
export { idOfGraph, systemAssistantId } from './system.ts'
export { isUnnamed } from './unnamed.ts'
