/* The files of a model beside the model file: external data, each mapped once, from one folder only. */
#ifndef INGOT_ONNX_EXTERNAL_H
#define INGOT_ONNX_EXTERNAL_H

#include "onnx/proto.h"

/* What TensorProto.external_data says. */
typedef struct ingot_external_place {
    ingot_span location;
    uint64_t offset;
    uint64_t length; /* meaningful where has_length; else as many bytes as the tensor needs */
    bool has_length;
} ingot_external_place;

/* Reads the entries of an external_data list; unknown keys are ignored, as the standard asks. */
ingot_status ingot_external_place_read(const ingot_proto_list *entries, ingot_external_place *place,
                                       ingot_error *error);

typedef struct ingot_model_files ingot_model_files;

/* folder is where external data may lie, itself included below; NULL: nowhere, external data is refused. no_mmap reads
 * files instead of mapping them. One thread at a time. */
ingot_status ingot_model_files_create(const char *folder, bool no_mmap, ingot_model_files **files, ingot_error *error);
/* Opens the model file itself, to be kept with the others. */
ingot_status ingot_model_files_open(ingot_model_files *files, const char *path, ingot_span *content,
                                    ingot_error *error);
void ingot_model_files_release(ingot_model_files *files); /* unmaps all of them; NULL is fine */

/* Bytes of one of the files that will hardly be read again: see ingot_file_forget. Others are left alone. */
void ingot_model_files_forget(ingot_model_files *files, const void *data, size_t size);

/* The bytes at place, as many as needed; borrowed until files is released. Refused: a location that is absolute, leaves the
 * folder by ".." or through a link, or is no regular file; an offset or length past the end of the file; a length that is
 * not needed. Messages name the location. */
ingot_status ingot_model_files_get(ingot_model_files *files, const ingot_external_place *place, size_t needed,
                                   ingot_span *bytes, ingot_error *error);

#endif
