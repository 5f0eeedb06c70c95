/* A program that asks for MPI's functions by their names, as plugins and some languages do. The recorder does not see them. */

#include <dlfcn.h>
#include <stddef.h>

int main(int count, char **words)
{
    void *library = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (library == NULL)
        return 1;
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    return init == NULL || finalize == NULL || init(NULL, NULL) != 0 || finalize() != 0;
}
