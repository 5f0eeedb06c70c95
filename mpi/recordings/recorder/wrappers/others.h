/* All functions of mpi.h that nothing stands before in the other files. LOCAL ones go through to the MPI: they have to do with no other
 * rank, or libraries ask none. REFUSED ones are counted where a program is recorded, and an emulated program cannot call them.
 * `programs/check` compares this list with the header of the MPI: a function of which nothing is known could wait for ranks that
 * are stopped. */

#define LOCAL(...)

/* Processes other than those of the start. */
REFUSED(MPI_Comm_spawn)
REFUSED(MPI_Comm_spawn_multiple)
REFUSED(MPI_Comm_accept)
REFUSED(MPI_Comm_connect)
REFUSED(MPI_Comm_join)
REFUSED(MPI_Open_port)
REFUSED(MPI_Close_port)
REFUSED(MPI_Publish_name)
REFUSED(MPI_Unpublish_name)
REFUSED(MPI_Lookup_name)

/* What is of MPICH alone, and of its streams and communicators of threads. */
#if defined(MPICH_NUMVERSION)
REFUSED(MPIX_Grequest_class_allocate)
REFUSED(MPIX_Grequest_start)
REFUSED(MPIX_Comm_agree)
REFUSED(MPIX_Comm_revoke)
REFUSED(MPIX_Comm_shrink)
#if MPICH_NUMVERSION >= 50000000
REFUSED(MPIX_Allreduce_enqueue)
REFUSED(MPIX_Allreduce_enqueue_c)
REFUSED(MPIX_Comm_get_failed)
REFUSED(MPIX_Irecv_enqueue)
REFUSED(MPIX_Irecv_enqueue_c)
REFUSED(MPIX_Isend_enqueue)
REFUSED(MPIX_Isend_enqueue_c)
REFUSED(MPIX_Recv_enqueue)
REFUSED(MPIX_Recv_enqueue_c)
REFUSED(MPIX_Send_enqueue)
REFUSED(MPIX_Send_enqueue_c)
REFUSED(MPIX_Stream_comm_create)
REFUSED(MPIX_Stream_comm_create_multiplex)
REFUSED(MPIX_Stream_irecv)
REFUSED(MPIX_Stream_irecv_c)
REFUSED(MPIX_Stream_isend)
REFUSED(MPIX_Stream_isend_c)
REFUSED(MPIX_Stream_recv)
REFUSED(MPIX_Stream_recv_c)
REFUSED(MPIX_Stream_send)
REFUSED(MPIX_Stream_send_c)
REFUSED(MPIX_Threadcomm_finish)
REFUSED(MPIX_Threadcomm_free)
REFUSED(MPIX_Threadcomm_init)
REFUSED(MPIX_Threadcomm_start)
REFUSED(MPIX_Wait_enqueue)
REFUSED(MPIX_Waitall_enqueue)
#endif
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
REFUSED(MPI_Request_get_status_all)
REFUSED(MPI_Request_get_status_any)
REFUSED(MPI_Request_get_status_some)
REFUSED(MPI_Buffer_iflush)
REFUSED(MPI_Comm_iflush_buffer)
REFUSED(MPI_Session_iflush_buffer)
#endif

/* Communicators, groups and topologies. */
LOCAL(MPI_Comm_attach_buffer, MPI_Comm_attach_buffer_c, MPI_Comm_c2f, MPI_Comm_call_errhandler,
      MPI_Comm_delete_attr, MPI_Comm_detach_buffer,
      MPI_Comm_detach_buffer_c, MPI_Comm_f2c, MPI_Comm_flush_buffer, MPI_Comm_fromint,
      MPI_Comm_get_errhandler, MPI_Comm_get_info, MPI_Comm_get_name, MPI_Comm_get_parent,
      MPI_Comm_set_errhandler, MPI_Comm_set_info, MPI_Comm_set_name, MPI_Comm_toint,
      MPI_Dims_create, MPI_Group_fromint, MPI_Group_toint)

/* Types and operations. */
LOCAL(MPI_Address, MPI_Aint_add, MPI_Aint_diff, MPI_Get_address, MPI_Op_c2f, MPI_Op_commutative, MPI_Op_f2c,
      MPI_Op_fromint, MPI_Op_toint, MPI_Pack, MPI_Pack_c, MPI_Pack_external, MPI_Pack_external_c,
      MPI_Pack_external_size, MPI_Pack_external_size_c, MPI_Pack_size, MPI_Pack_size_c, MPI_Reduce_local,
      MPI_Reduce_local_c, MPI_Type_c2f, MPI_Type_delete_attr, MPI_Type_extent, MPI_Type_f2c,
      MPI_Type_fromint, MPI_Type_get_attr, MPI_Type_get_envelope, MPI_Type_get_envelope_c,
      MPI_Type_get_extent, MPI_Type_get_extent_c, MPI_Type_get_extent_x, MPI_Type_get_name, MPI_Type_get_true_extent,
      MPI_Type_get_true_extent_c, MPI_Type_get_true_extent_x, MPI_Type_get_value_index, MPI_Type_hindexed,
      MPI_Type_hvector, MPI_Type_lb, MPI_Type_match_size, MPI_Type_set_attr, MPI_Type_set_name, MPI_Type_size,
      MPI_Type_size_c, MPI_Type_size_x, MPI_Type_struct, MPI_Type_toint, MPI_Type_ub, MPI_Unpack, MPI_Unpack_c,
      MPI_Unpack_external, MPI_Unpack_external_c)

/* Statuses, buffers, and requests. */
LOCAL(MPI_Buffer_attach, MPI_Buffer_attach_c, MPI_Buffer_detach, MPI_Buffer_detach_c, MPI_Buffer_flush, MPI_Get_count,
      MPI_Get_count_c, MPI_Get_elements, MPI_Get_elements_c, MPI_Get_elements_x,
      MPI_Message_fromint, MPI_Message_toint, MPI_Status_c2f, MPI_Status_c2f08, MPI_Status_f082c, MPI_Status_f082f,
      MPI_Status_f2c, MPI_Status_f2f08, MPI_Status_get_error, MPI_Status_get_source, MPI_Status_get_tag,
      MPI_Status_set_cancelled, MPI_Status_set_elements, MPI_Status_set_elements_c, MPI_Status_set_elements_x,
      MPI_Status_set_error, MPI_Status_set_source, MPI_Status_set_tag, MPI_Test_cancelled)

/* Windows. */
LOCAL(MPI_Win_attach, MPI_Win_c2f, MPI_Win_call_errhandler,
      MPI_Win_delete_attr, MPI_Win_detach, MPI_Win_f2c, MPI_Win_fromint, MPI_Win_get_errhandler,
      MPI_Win_get_info, MPI_Win_get_name, MPI_Win_set_attr, MPI_Win_set_errhandler,
      MPI_Win_set_name, MPI_Win_toint)

/* Files. */
LOCAL(MPI_File_c2f, MPI_File_call_errhandler, MPI_File_f2c, MPI_File_fromint, MPI_File_get_errhandler, MPI_File_set_errhandler,
      MPI_File_toint, MPI_Register_datarep, MPI_Register_datarep_c)

/* Sessions. */
LOCAL(MPI_Session_attach_buffer, MPI_Session_attach_buffer_c, MPI_Session_c2f, MPI_Session_call_errhandler,
      MPI_Session_create_errhandler, MPI_Session_detach_buffer, MPI_Session_detach_buffer_c, MPI_Session_f2c,
      MPI_Session_flush_buffer, MPI_Session_fromint, MPI_Session_get_errhandler, MPI_Session_get_info,
      MPI_Session_get_nth_pset, MPI_Session_get_num_psets, MPI_Session_set_errhandler,
      MPI_Session_set_info, MPI_Session_toint)

/* The tool's interface. */
LOCAL(MPI_T_category_changed, MPI_T_category_get_categories, MPI_T_category_get_cvars, MPI_T_category_get_events,
      MPI_T_category_get_index, MPI_T_category_get_info, MPI_T_category_get_num, MPI_T_category_get_num_events,
      MPI_T_category_get_pvars, MPI_T_cvar_get_index, MPI_T_cvar_get_info, MPI_T_cvar_get_num,
      MPI_T_cvar_handle_alloc, MPI_T_cvar_handle_free, MPI_T_cvar_read, MPI_T_cvar_write, MPI_T_enum_get_info,
      MPI_T_enum_get_item, MPI_T_event_callback_get_info, MPI_T_event_callback_set_info, MPI_T_event_copy,
      MPI_T_event_get_index, MPI_T_event_get_info, MPI_T_event_get_num, MPI_T_event_get_source,
      MPI_T_event_get_timestamp, MPI_T_event_handle_alloc, MPI_T_event_handle_free, MPI_T_event_handle_get_info,
      MPI_T_event_handle_set_info, MPI_T_event_read, MPI_T_event_register_callback, MPI_T_event_set_dropped_handler,
      MPI_T_finalize, MPI_T_init_thread, MPI_T_pvar_get_index, MPI_T_pvar_get_info, MPI_T_pvar_get_num,
      MPI_T_pvar_handle_alloc, MPI_T_pvar_handle_free, MPI_T_pvar_read, MPI_T_pvar_readreset, MPI_T_pvar_reset,
      MPI_T_pvar_session_create, MPI_T_pvar_session_free, MPI_T_pvar_start, MPI_T_pvar_stop, MPI_T_pvar_write,
      MPI_T_source_get_info, MPI_T_source_get_num, MPI_T_source_get_timestamp)

/* MPICH's own. */
LOCAL(MPIX_Async_get_state, MPIX_Async_spawn, MPIX_Async_start, MPIX_Comm_create_errhandler_x, MPIX_Comm_failure_ack,
      MPIX_Comm_failure_get_acked, MPIX_Comm_get_stream, MPIX_Comm_test_threadcomm, MPIX_Delete_error_class,
      MPIX_Delete_error_code, MPIX_Delete_error_string, MPIX_File_create_errhandler_x, MPIX_GPU_query_support,
      MPIX_Grequest_class_create, MPIX_Info_set_hex, MPIX_Op_create_x, MPIX_Query_cuda_support,
      MPIX_Query_hip_support, MPIX_Query_ze_support, MPIX_Request_is_complete, MPIX_Session_create_errhandler_x,
      MPIX_Start_progress_thread, MPIX_Stop_progress_thread, MPIX_Stream_create, MPIX_Stream_free,
      MPIX_Stream_progress, MPIX_Type_iov, MPIX_Type_iov_len, MPIX_Win_create_errhandler_x)

/* The rest. */
LOCAL(MPI_Abi_get_fortran_booleans, MPI_Abi_get_fortran_info, MPI_Abi_get_info, MPI_Abi_get_version,
      MPI_Abi_set_fortran_booleans, MPI_Abi_set_fortran_info, MPI_Add_error_class, MPI_Add_error_code,
      MPI_Add_error_string, MPI_Alloc_mem, MPI_Attr_delete, MPI_Errhandler_c2f,
      MPI_Errhandler_create, MPI_Errhandler_f2c, MPI_Errhandler_fromint, MPI_Errhandler_get,
      MPI_Errhandler_set, MPI_Errhandler_toint, MPI_Error_class, MPI_Error_string, MPI_Free_mem,
      MPI_Get_hw_resource_info, MPI_Get_library_version, MPI_Get_processor_name, MPI_Get_version, MPI_Info_c2f,
      MPI_Info_create_env, MPI_Info_delete, MPI_Info_f2c,
      MPI_Info_fromint, MPI_Info_get, MPI_Info_get_nkeys, MPI_Info_get_nthkey, MPI_Info_get_string,
      MPI_Info_get_valuelen, MPI_Info_set, MPI_Info_toint, MPI_Is_thread_main, MPI_Keyval_create,
      MPI_Keyval_free, MPI_Pcontrol, MPI_Query_thread, MPI_Remove_error_class, MPI_Remove_error_code,
      MPI_Remove_error_string)
