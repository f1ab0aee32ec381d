/** An upload of a deployment. */
export interface UploadPlace {
  readonly deploymentId: string
  readonly uploadId: string
}

/** What the API calls its `object_path`, or `source_tarball_path`. */
export const pathOf = ({ deploymentId, uploadId }: UploadPlace): string =>
  `uploads/${deploymentId}/${uploadId}.tar.gz`

/** Undefined for what is the path of no upload to this deployment. */
export function placeOf(path: string, deploymentId: string): UploadPlace | undefined {
  const uploadId = /\/([0-9a-f-]{36})\.tar\.gz$/.exec(path)?.[1]
  const place = uploadId === undefined ? undefined : { deploymentId, uploadId }
  return place && pathOf(place) === path ? place : undefined
}
